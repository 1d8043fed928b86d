// Reads key positions (the first position of each segment) and moves. All words of a segment are stored together.

@group(0) @binding(1) var<storage, read> keys: array<Key>;
@group(0) @binding(2) var<storage, read> moves: array<Bits>;

fn first_slot(segment: u32) -> At {
    let key = &keys[segment];
    let board = Board((*key).planes[0], (*key).planes[1], (*key).planes[2], (*key).planes[3]);
    return At(board, (*key).state, (*key).ply, (*key).first_game, (*key).first_start, 0u, segment, 0u);
}

// Returns four moves of 16 bits each, with the first move in the lowest bits.
fn four_moves(segment: u32, word: u32) -> Bits {
    return moves[segment * (SEGMENT_SLOTS / 4u) + word];
}
