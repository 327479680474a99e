// The standard library has default implementations for these methods, which would be preferred to the generic ones: they
// are not specialised, and refuse integers of 128 bits. Each of these names the generic one again.

extension KeyedEncoder {
    func encode(_ value: Int128, forKey key: Key) throws { try token(value, forKey: key) }
    func encode(_ value: UInt128, forKey key: Key) throws { try token(value, forKey: key) }

    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { if let value { try token(value, forKey: key) } }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { if let value { try token(value, forKey: key) } }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { if let value { try token(value, forKey: key) } }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { if let value { try token(value, forKey: key) } }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { if let value { try token(value, forKey: key) } }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { if let value { try token(value, forKey: key) } }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { if let value { try token(value, forKey: key) } }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { if let value { try token(value, forKey: key) } }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { if let value { try token(value, forKey: key) } }
    func encodeIfPresent(_ value: Int128?, forKey key: Key) throws { if let value { try token(value, forKey: key) } }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { if let value { try token(value, forKey: key) } }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { if let value { try token(value, forKey: key) } }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { if let value { try token(value, forKey: key) } }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { if let value { try token(value, forKey: key) } }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { if let value { try token(value, forKey: key) } }
    func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws { if let value { try token(value, forKey: key) } }
}

extension UnkeyedEncoder {
    func encode(_ value: Int128) throws { try token(value) }
    func encode(_ value: UInt128) throws { try token(value) }
}

extension ValueEncoder {
    func encode(_ value: Int128) throws { try token(value) }
    func encode(_ value: UInt128) throws { try token(value) }
}
