namespace Cairn.Encryption;

/// <summary>Receives a decrypted entry of an encrypted store. Key and value are valid only during the call.</summary>
internal delegate void OpenedVisitor(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, in EntryInfo info, uint collection);
