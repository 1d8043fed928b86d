// Prints the results of chessops' functions for 10,000 random positions: a digest of all results of each function, and the
// complete results for the first positions. See check.sh.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { makeFen, parseFen } from 'chessops/fen';
import { SquareSet } from 'chessops/squareSet';
import * as transform from 'chessops/transform';
import { COLORS, ROLES } from 'chessops/types';
import { Rng, position } from './positions.mjs';

const SEED = 20260;
const COUNT = 10000;
const ROWS = 40;
const NAMES = [
  'flipVertical', 'flipHorizontal', 'flipDiagonal', 'rotate180', 'shiftLeft', 'shiftRight', 'shiftUp', 'shiftDown',
];
const functions = [['identity', (set) => set], ...NAMES.map((name) => [name, transform[name]])];

const hex = (set) =>
  (set.hi >>> 0).toString(16).padStart(8, '0') + (set.lo >>> 0).toString(16).padStart(8, '0');

/** Returns the bitboards of a board. */
const masks = (board) =>
  [board.occupied, board.promoted, ...COLORS.map((color) => board[color]), ...ROLES.map((role) => board[role])]
    .map(hex)
    .join(' ');

/** Returns the properties of a position other than its bitboards, including those that a FEN does not contain. */
const rest = (setup) => {
  const side = (side) => ROLES.map((role) => side[role]).join('');
  const pockets = setup.pockets ? COLORS.map((color) => side(setup.pockets[color])).join('/') : '-';
  const checks = setup.remainingChecks ? COLORS.map((color) => setup.remainingChecks[color]).join('+') : '-';
  const passed = setup.epSquare === undefined ? '-' : setup.epSquare;
  return [hex(setup.castlingRights), passed, setup.turn, pockets, checks, setup.halfmoves, setup.fullmoves].join(' ');
};

const { version } = JSON.parse(readFileSync(new URL('node_modules/chessops/package.json', import.meta.url)));
console.log(`# chessops ${version}, ${COUNT} positions from seed ${SEED}: tests/chessops/check.sh`);
const digests = new Map();
const add = (name, line) => {
  if (!digests.has(name)) digests.set(name, createHash('sha256'));
  digests.get(name).update(line + '\n');
};
const rng = new Rng(SEED);
for (let number = 0; number < COUNT; number++) {
  const fen = position(rng);
  add('positions', fen);
  const setup = parseFen(fen).unwrap();
  const set = new SquareSet(Number(rng.next() & 0xffffffffn) | 0, Number(rng.next() & 0xffffffffn) | 0);
  for (const [name, f] of functions) {
    add(`set ${name}`, `${hex(set)} ${hex(f(set))}`);
    add(`board ${name}`, masks(transform.transformBoard(setup.board, f)));
    const image = transform.transformSetup(setup, f);
    add(`setup ${name}`, `${masks(image.board)} ${rest(image)}`);
    add(`fen ${name}`, makeFen(image));
    if (number < ROWS) console.log(['row', name, fen, makeFen(image), rest(image)].join('\t'));
  }
}
for (const [name, digest] of digests) console.log(['digest', name, digest.digest('hex')].join('\t'));
