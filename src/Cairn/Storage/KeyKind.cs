namespace Cairn.Storage;

/// <summary>The kind of secret with which a store's own key is encrypted.</summary>
internal enum KeyKind
{
    /// <summary>No secret: the block for a key is empty.</summary>
    None = 0,

    /// <summary>A key of 256 bits.</summary>
    Key = 1,

    /// <summary>A password.</summary>
    Password = 2,
}
