namespace Cairn;

/// <summary>What opening does if the store's file is there, or is not.</summary>
public enum StoreOpenMode
{
    /// <summary>Opens the store, or creates it.</summary>
    OpenOrCreate = 0,

    /// <summary>Opens the store; its absence is a <see cref="FileNotFoundException"/>.</summary>
    OpenExisting,

    /// <summary>Creates the store; its presence is a <see cref="StoreException"/>.</summary>
    CreateNew,
}
