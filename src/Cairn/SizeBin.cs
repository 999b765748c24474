namespace Cairn;

/// <summary>Values of similar length.</summary>
/// <param name="FromBytes">The shortest length in this group, in bytes.</param>
/// <param name="ToBytes">The longest length in this group, in bytes.</param>
/// <param name="Entries">The number of values in this group.</param>
/// <param name="ValueBytes">The sum of their lengths in bytes.</param>
public readonly record struct SizeBin(long FromBytes, long ToBytes, long Entries, long ValueBytes);
