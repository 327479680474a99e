#ifndef CPORTABLETEXT_H
#define CPORTABLETEXT_H

#include "CText.h"

struct text_scan portable_pass(const uint8_t *base, size_t end, struct text_scan scan);
size_t portable_valid_utf8(const uint8_t *base, size_t count);
size_t portable_unescape(const uint8_t *base, size_t count, uint8_t *target);
size_t portable_escape(const uint8_t *base, size_t count, size_t *at, uint8_t *target, size_t room);

#endif
