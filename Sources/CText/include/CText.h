// What long JSON strings are made of: runs of plain bytes, escapes, and characters in UTF-8. These functions pass over a run in
// steps of sixteen bytes, with instructions that every x86-64 and every arm64 processor has, and eight bytes elsewhere. Swift has
// no way to ask which bytes of a vector fulfil a condition.
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

/// Copies a text that `text_pass` has passed over, with each escape replaced by its character. The target needs room for as many
/// bytes as the text has. Returns how many it got.
size_t text_unescape(const uint8_t *base, size_t count, uint8_t *target);

/// Copies a text from `*at` on, with escapes for quotes, backslashes and control characters. Stops at the end of the text, or when
/// less than `TEXT_ROOM` bytes of the room are left. Moves `*at` to where it stopped, and returns how many bytes the target got.
size_t text_escape(const uint8_t *base, size_t count, size_t *at, uint8_t *target, size_t room);

enum { TEXT_ROOM = 96 };

#endif
