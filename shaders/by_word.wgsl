// Reads key positions (the first position of each segment) and moves that are stored word by word: the first word of
// all segments, then the second word of all segments, and so on. With this layout, neighbouring invocations read
// neighbouring words.

@group(0) @binding(1) var<storage, read> keys: array<Bits>;
@group(0) @binding(2) var<storage, read> moves: array<Bits>;

fn first_slot(segment: u32) -> At {
    let next = params.segments;
    let board = Board(
        keys[segment],
        keys[segment + next],
        keys[segment + 2u * next],
        keys[segment + 3u * next],
    );
    // `turn` contains the state and the ply; `tables` contains the indices of the game and of the start position. They follow the
    // board, in the order of the fields of `Key`.
    let turn = keys[segment + 4u * next];
    let tables = keys[segment + 5u * next];
    return At(board, low_word(turn), high_word(turn), low_word(tables), high_word(tables), 0u, segment, 0u);
}

// Returns four moves of 16 bits each, with the first move in the lowest bits.
fn four_moves(segment: u32, word: u32) -> Bits {
    return moves[segment + word * params.segments];
}
