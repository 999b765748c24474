namespace Cairn;

/// <summary>How an opening treats an existing or a missing file.</summary>
public enum StoreOpenMode
{
    /// <summary>Opens the store, or creates it.</summary>
    OpenOrCreate = 0,

    /// <summary>Opens the store. Throws <see cref="FileNotFoundException"/> if the file does not exist.</summary>
    OpenExisting,

    /// <summary>Creates the store. Throws <see cref="StoreException"/> if the file exists.</summary>
    CreateNew,
}
