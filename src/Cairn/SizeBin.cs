namespace Cairn;

/// <summary>Values of similar length.</summary>
/// <param name="FromBytes">The shortest length that counts here.</param>
/// <param name="ToBytes">The longest length that counts here.</param>
/// <param name="Entries">How many there are.</param>
/// <param name="ValueBytes">Their lengths together.</param>
public readonly record struct SizeBin(long FromBytes, long ToBytes, long Entries, long ValueBytes);
