namespace Cairn.Keys;

/// <summary>A key on the fast paths of the store. Its bytes are in memory or in registers.</summary>
internal unsafe interface IPlainKey
{
    int Length { get; }

    /// <summary>Returns whether the key's bytes equal those at <paramref name="stored"/>. As many bytes must be readable there.</summary>
    bool EqualsStored(byte* stored);

    /// <summary>Stores the key's bytes at <paramref name="target"/>.</summary>
    void Store(byte* target);
}
