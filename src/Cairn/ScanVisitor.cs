namespace Cairn;

/// <summary>Called by <see cref="CairnCollection.Scan"/> for each entry.</summary>
/// <param name="key">The key's bytes, valid only during the call.</param>
/// <param name="info">What is known of the entry.</param>
public delegate void ScanVisitor(ReadOnlySpan<byte> key, EntryInfo info);
