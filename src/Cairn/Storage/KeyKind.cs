namespace Cairn.Storage;

/// <summary>What a store's own key is encrypted with.</summary>
internal enum KeyKind
{
    /// <summary>Nothing: the place for a key is empty.</summary>
    None = 0,

    /// <summary>A key of 256 bits.</summary>
    Key = 1,

    /// <summary>A password.</summary>
    Password = 2,
}
