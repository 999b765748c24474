namespace Cairn.Keys;

/// <summary>A key of the short ways through the store: known by its bytes in memory or in registers.</summary>
internal unsafe interface IPlainKey
{
    int Length { get; }

    /// <summary>Whether the key's bytes are those at <paramref name="stored"/>, where as many bytes can be read.</summary>
    bool EqualsStored(byte* stored);

    /// <summary>Stores the key's bytes at <paramref name="target"/>.</summary>
    void Store(byte* target);
}
