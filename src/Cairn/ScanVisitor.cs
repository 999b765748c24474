namespace Cairn;

/// <summary>Receives each entry of a <see cref="CairnCollection.Scan"/>.</summary>
/// <param name="key">The key's bytes. They are valid only during the call.</param>
/// <param name="info">The entry's information.</param>
public delegate void ScanVisitor(ReadOnlySpan<byte> key, EntryInfo info);
