namespace Cairn;

/// <summary>The position of a scan. The default value is the beginning.</summary>
/// <param name="Position">An opaque number. It has a meaning only for the store that created it.</param>
public readonly record struct ScanCursor(long Position);
