namespace Cairn;

/// <summary>How far a scan has got. The default value is the beginning.</summary>
/// <param name="Position">Opaque: meaningful only to the store that made it.</param>
public readonly record struct ScanCursor(long Position);
