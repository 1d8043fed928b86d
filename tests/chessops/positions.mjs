// Generates the same random positions as tests/suite/positions/random.rs: both draw all random numbers in the same order.

const MASK = (1n << 64n) - 1n;

/** The generator SplitMix64, with the same results as in tests/suite/differential/rng.rs. */
export class Rng {
  constructor(seed) {
    this.state = BigInt(seed);
  }
  next() {
    this.state = (this.state + 0x9e3779b97f4a7c15n) & MASK;
    let z = this.state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
    return z ^ (z >> 31n);
  }
  below(end) {
    return Number((this.next() >> 33n) % BigInt(end));
  }
}

const LETTERS = 'PNBRQKpnbrqk';

function placement(rng) {
  const density = rng.below(100);
  const ranks = [];
  for (let rank = 0; rank < 8; rank++) {
    let text = '';
    let empty = 0;
    for (let file = 0; file < 8; file++) {
      if (rng.below(100) >= density) {
        empty += 1;
        continue;
      }
      if (empty > 0) text += empty;
      empty = 0;
      text += LETTERS[rng.below(12)];
      if (rng.below(12) === 0) text += '~';
    }
    if (empty > 0) text += empty;
    ranks.push(text);
  }
  return ranks.join('/');
}

function pockets(rng) {
  if (rng.below(3) > 0) return '';
  let text = '';
  for (let count = rng.below(9); count > 0; count--) text += LETTERS[rng.below(12)];
  return `[${text}]`;
}

function castling(rng) {
  let text = '';
  for (const letters of ['KQABCDEFGH', 'kqabcdefgh']) {
    for (let count = rng.below(3); count > 0; count--) text += letters[rng.below(10)];
  }
  return text === '' ? '-' : text;
}

export function position(rng) {
  const board = placement(rng) + pockets(rng);
  const turn = 'wb'[rng.below(2)];
  const rights = castling(rng);
  const passed = rng.below(2) === 0 ? '-' : 'abcdefgh'[rng.below(8)] + '12345678'[rng.below(8)];
  const checks = rng.below(3) > 0 ? '' : ` ${rng.below(4)}+${rng.below(4)}`;
  return `${board} ${turn} ${rights} ${passed}${checks} ${rng.below(150)} ${1 + rng.below(300)}`;
}
