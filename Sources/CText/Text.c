#include "CText.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
#include <arm_neon.h>
#endif

// Vectors as the compiler knows them for any processor. Comparing two gives one of bytes with all bits set, or none.
typedef uint8_t bytes __attribute__((vector_size(16)));
typedef int8_t characters __attribute__((vector_size(16)));

static inline bytes load(const uint8_t *from) {
    bytes loaded;
    memcpy(&loaded, from, sizeof loaded);
    return loaded;
}

/// What is examined in one step.
typedef struct { bytes part[4]; } block;
enum { WIDTH = sizeof(block) };

static inline block load_block(const uint8_t *from) {
    return (block){{load(from), load(from + 16), load(from + 32), load(from + 48)}};
}

/// The block at the beginning of a text. Behind a shorter text it has zeros.
static inline block load_some(const uint8_t *from, size_t count) {
    if (count >= WIDTH) return load_block(from);
    uint8_t some[WIDTH] = {0};
    memcpy(some, from, count);
    return load_block(some);
}

/// The highest bit of each byte of a block, the first byte lowest.
static inline uint64_t marks(block found) {
#if defined(__SSE2__) && !defined(PORTABLE)
    uint64_t marks = 0;
    for (int i = 3; i >= 0; i--) marks = marks << 16 | (uint32_t)_mm_movemask_epi8((__m128i)found.part[i]);
    return marks;
#elif defined(__aarch64__) && !defined(__AARCH64EB__) && !defined(PORTABLE)
    // Each byte keeps the bit of its place among eight. Neighbours are added three times.
    const uint8x16_t places = (uint8x16_t)(bytes){1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t bit[4];
    for (int i = 0; i < 4; i++) bit[i] = vandq_u8(vcltzq_s8((int8x16_t)found.part[i]), places);
    uint8x16_t sum = vpaddq_u8(vpaddq_u8(bit[0], bit[1]), vpaddq_u8(bit[2], bit[3]));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)), 0);
#else
    uint64_t eight[8], marks = 0;
    memcpy(eight, &found, sizeof eight);
    for (int i = 7; i >= 0; i--) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        eight[i] = __builtin_bswap64(eight[i]);
#endif
        // Moves the bits of eight bytes together.
        marks = marks << 8 | (eight[i] >> 7 & 0x0101010101010101) * 0x0102040810204080 >> 56;
    }
    return marks;
#endif
}

/// Whether any byte has its highest bit set.
static inline bool any_marked(block found) {
    bytes all = found.part[0] | found.part[1] | found.part[2] | found.part[3];
    uint64_t halves[2];
    memcpy(halves, &all, sizeof halves);
    return (halves[0] | halves[1]) & 0x8080808080808080;
}

/// Marks quotes, backslashes and control characters.
static inline block stops(block text) {
    // With its second bit flipped, a quote is 0x20, and the control characters are still below that.
    for (int i = 0; i < 4; i++) text.part[i] = (bytes)((text.part[i] ^ 2) <= 0x20) | (bytes)(text.part[i] == '\\');
    return text;
}

static inline block backslashes(block text) {
    for (int i = 0; i < 4; i++) text.part[i] = (bytes)(text.part[i] == '\\');
    return text;
}

/// The marks from a place on.
static inline uint64_t marks_from(size_t place, uint64_t marks) { return place < WIDTH ? marks & ~(uint64_t)0 << place : 0; }

/// What the letter behind a backslash means; 0 if it means nothing alone.
static const uint8_t meanings[256] = {
    ['"'] = '"', ['\\'] = '\\', ['/'] = '/', ['b'] = '\b', ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t'};

/// The value of the four digits behind `\u`; -1 if the text is not such an escape.
static int32_t unit(const uint8_t *text, size_t count) {
    if (count < 6 || text[0] != '\\' || text[1] != 'u') return -1;
    int32_t value = 0;
    for (int i = 2; i < 6; i++) {
        uint8_t digit = text[i] - '0', letter = (text[i] | 0x20) - 'a';
        if (digit > 9 && letter > 5) return -1;
        value = value << 4 | (digit <= 9 ? digit : letter + 10);
    }
    return value;
}

/// The character whose escape begins a text, and the escape's length; -1 if there is none.
static inline int32_t escaped(const uint8_t *text, size_t count, size_t *length) {
    if (count < 2) return -1;
    *length = 2;
    if (meanings[text[1]]) return meanings[text[1]];
    *length = 6;
    int32_t first = unit(text, count);
    if (first < 0 || (first & 0xF800) != 0xD800) return first;
    // Half a pair. The other half follows, or the text is wrong.
    *length = 12;
    int32_t second = count < 12 ? -1 : unit(text + 6, count - 6);
    if ((first & 0xFC00) != 0xD800 || second < 0 || (second & 0xFC00) != 0xDC00) return -1;
    return 0x10000 + ((first & 0x3FF) << 10 | (second & 0x3FF));
}

struct text_scan text_pass(const uint8_t *base, size_t end, struct text_scan scan) {
    for (size_t next;; scan.at = next) {
        size_t left = end - scan.at;
        // The zeros behind the end stop too.
        block text = load_some(base + scan.at, left), stop = stops(text);
        next = scan.at + WIDTH;
        // To ask first whether there is any is faster.
        for (uint64_t found = any_marked(stop) ? marks(stop) : 0; found;) {
            size_t place = (size_t)__builtin_ctzll(found), length;
            if (place >= left || base[scan.at + place] != '\\'
                || escaped(base + scan.at + place, left - place, &length) < 0) {
                if (marks(text) & (((uint64_t)1 << place) - 1)) scan.has_others = true;
                scan.at += place;
                return scan;
            }
            scan.has_escapes = true;
            found = marks_from(place + length, found);
            if (place + length > WIDTH) next = scan.at + place + length;
        }
        if (any_marked(text)) scan.has_others = true;
    }
}

/// Copies a run of at most `WIDTH` bytes. Copies more of a text that has more, which is faster.
static inline void copy(uint8_t *to, const uint8_t *text, size_t count, size_t available) {
    if (available < WIDTH) {
        memcpy(to, text, count);
    } else {
        block run = load_block(text);
        for (int i = 0; i < 4; i++) memcpy(to + 16 * i, &run.part[i], 16);
    }
}

/// Writes a character in UTF-8. Returns its length.
static inline size_t put(uint8_t *to, int32_t character) {
    if (character < 0x80) return to[0] = (uint8_t)character, 1;
    size_t length = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, character >>= 6) to[i] = 0x80 | (character & 0x3F);
    return to[0] = (uint8_t)(0xF00 >> length) | (uint8_t)character, length;
}

size_t text_unescape(const uint8_t *base, size_t count, uint8_t *target) {
    // An escape is longer than its character. So there is always as much room as text.
    uint8_t *to = target;
    for (size_t at = 0, next; at < count; at = next) {
        uint64_t found = marks(backslashes(load_some(base + at, count - at)));
        size_t end = count - at < WIDTH ? count : at + WIDTH;
        for (next = at; next < end;) {
            size_t place = found ? at + (size_t)__builtin_ctzll(found) : end, length = 0;
            copy(to, base + next, place - next, count - next);
            to += place - next;
            if (place < end) {
                int32_t character = escaped(base + place, count - place, &length);
                if (character < 0) return (size_t)(to - target);
                to += put(to, character);
                found = marks_from(place + length - at, found);
            }
            next = place + length;
        }
    }
    return (size_t)(to - target);
}

size_t text_escape(const uint8_t *base, size_t count, size_t *at, uint8_t *target, size_t room) {
    uint8_t *to = target;
    for (size_t next; *at < count && room - (size_t)(to - target) >= TEXT_ROOM; *at = next) {
        uint64_t found = marks(stops(load_some(base + *at, count - *at)));
        size_t end = count - *at < WIDTH ? count : *at + WIDTH;
        for (next = *at; next < end && room - (size_t)(to - target) >= TEXT_ROOM; found &= found - 1) {
            size_t place = found ? *at + (size_t)__builtin_ctzll(found) : end;
            copy(to, base + next, place - next, count - next);
            to += place - next;
            next = place;
            if (place == end) break;
            uint8_t byte = base[next++], name = byte < 0x20 ? (uint8_t)"uuuuuuuubtnufruuuuuuuuuuuuuuuuuu"[byte] : byte;
            *to++ = '\\', *to++ = name;
            if (name == 'u') *to++ = '0', *to++ = '0', *to++ = '0' + (byte >> 4), *to++ = (uint8_t)"0123456789abcdef"[byte & 15];
        }
    }
    return (size_t)(to - target);
}

/// The length of the valid character at the beginning of a text; 0 if there is none.
static inline size_t character_length(const uint8_t *text, size_t count) {
    uint8_t first = text[0];
    size_t length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    if (length > count) return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xC0) != 0x80) return 0;
    // Written longer than needed, half a pair, or beyond the last character.
    if ((first == 0xE0 && text[1] < 0xA0) || (first == 0xED && text[1] > 0x9F)) return 0;
    if ((first == 0xF0 && text[1] < 0x90) || (first == 0xF4 && text[1] > 0x8F)) return 0;
    return length;
}

/// Sets the highest bit of each of sixteen bytes that cannot stand behind the three bytes before it.
static inline bytes faults(const uint8_t *text) {
    bytes here = load(text), one = load(text - 1), two = load(text - 2), three = load(text - 3);
    // A difference has its highest bit set if the byte begins a character of at least two, three or four bytes.
    bytes expected = __builtin_elementwise_sub_sat(one, (bytes){} + 0x40)
        | __builtin_elementwise_sub_sat(two, (bytes){} + 0x60) | __builtin_elementwise_sub_sat(three, (bytes){} + 0x70);
    // As signed numbers, the bytes that continue a character are the lowest ones.
    characters signed_here = (characters)here;
    bytes continues = (bytes)(signed_here < -0x40);
    return (expected ^ continues) | (bytes)((one | 1) == 0xC1) | __builtin_elementwise_sub_sat(one, (bytes){} + 0x75)
        | ((bytes)(one == 0xE0) & (bytes)(signed_here < -0x60)) | ((bytes)(one == 0xED) & (bytes)(signed_here >= -0x60))
        | ((bytes)(one == 0xF0) & (bytes)(signed_here < -0x70)) | ((bytes)(one == 0xF4) & (bytes)(signed_here >= -0x70));
}

size_t text_valid_utf8(const uint8_t *base, size_t count) {
    size_t at = 0, checked = count < 3 ? count : 3;
    while (true) {
        // Here a character begins, or the text ends.
        while (at < checked) {
            size_t length = character_length(base + at, count - at);
            if (length == 0) return at;
            at += length;
        }
        if (at == count) return at;
        for (; count - at >= WIDTH; at += WIDTH) {
            block text = load_block(base + at);
            if (base[at - 1] < 0x80 && !any_marked(text)) continue;
            block wrong;
            for (int i = 0; i < 4; i++) wrong.part[i] = faults(base + at + 16 * i);
            if (any_marked(wrong)) break;
        }
        // The fault is among these bytes, or they are the last ones. The character before them may be part of it.
        checked = count - at < WIDTH ? count : at + WIDTH;
        do at--; while (at > 0 && (base[at] & 0xC0) == 0x80);
    }
}
