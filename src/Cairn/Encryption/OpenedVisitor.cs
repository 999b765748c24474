namespace Cairn.Encryption;

/// <summary>What is done with an entry of an encrypted store that was met and decrypted. Key and value are valid during the call.</summary>
internal delegate void OpenedVisitor(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, in EntryInfo info, uint collection);
