namespace Cairn.Caching.Serialization;

/// <summary>What bytes from the second level turned out to be. All but <see cref="Ok"/> count as a miss.</summary>
internal enum EnvelopeStatus
{
    /// <summary>An envelope of this key and type, unharmed.</summary>
    Ok = 0,

    /// <summary>Something else: it was not written by Cairn, or its first bytes are gone.</summary>
    NotCairn,

    /// <summary>An envelope of a later version of Cairn.</summary>
    NewerVersion,

    /// <summary>Not what was written, or written under another key.</summary>
    Damaged,

    /// <summary>The value of another type.</summary>
    OtherType,

    /// <summary>A value in a format that this cache does not read for the type.</summary>
    OtherFormat,

    /// <summary>The serializer does not read what a serializer of the same format and type wrote: the type has changed.</summary>
    Unreadable,

    /// <summary>Larger, once decompressed, than this cache keeps.</summary>
    TooLarge,
}
