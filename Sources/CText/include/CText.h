// What long JSON strings are made of: runs of plain bytes, escapes, and characters in UTF-8. These functions examine 64 bytes in
// one step, in vectors of sixteen. Swift has no way to ask which bytes of a vector fulfil a condition. Every x86-64 and every arm64
// processor has instructions for it; elsewhere it is done with numbers of eight bytes.
//
// No function reads or writes outside the memory that it is given, and none keeps anything.
#ifndef CTEXT_H
#define CTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// How far a text was examined, and what was met before that place.
struct text_scan {
    size_t at;
    bool has_escapes, has_others;
};

/// Passes over the inside of a string, from `scan.at` on. Stops at the closing quote, at a control character, at a backslash that
/// does not begin an escape of a whole character, or at the end. Notes escapes, and bytes that are not ASCII. Does not check UTF-8.
struct text_scan text_pass(const uint8_t *base, size_t end, struct text_scan scan);

/// The offset of the first byte that does not belong to a valid character in UTF-8; the count if there is none.
size_t text_valid_utf8(const uint8_t *base, size_t count);

/// Copies a text that `text_pass` has passed over, with each escape replaced by its character. Returns how many bytes the target
/// got. It needs room for as many as the text has, and all of the room may be overwritten.
size_t text_unescape(const uint8_t *base, size_t count, uint8_t *target);

/// Copies a text from `*at` on, with escapes for quotes, backslashes and control characters. Stops at the end of the text, or when
/// less than `TEXT_ROOM` bytes of the room are left, which may be at once. Moves `*at` to where it stopped, and returns how many
/// bytes the target got. All of the room may be overwritten.
size_t text_escape(const uint8_t *base, size_t count, size_t *at, uint8_t *target, size_t room);

/// Enough for a step and an escape.
enum { TEXT_ROOM = 96 };

#endif
