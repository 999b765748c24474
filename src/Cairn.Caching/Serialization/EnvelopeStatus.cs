namespace Cairn.Caching.Serialization;

/// <summary>The result of the validation of bytes from the second level. All except <see cref="Ok"/> count as a miss.</summary>
internal enum EnvelopeStatus
{
    /// <summary>An intact envelope of this key and type.</summary>
    Ok = 0,

    /// <summary>The bytes were not written by Cairn, or their beginning is lost.</summary>
    NotCairn,

    /// <summary>An envelope of a later version of Cairn.</summary>
    NewerVersion,

    /// <summary>The envelope differs from what was written, or was written under another key.</summary>
    Damaged,

    /// <summary>The value has another type.</summary>
    OtherType,

    /// <summary>The value has a format that this cache does not read for the type.</summary>
    OtherFormat,

    /// <summary>The serializer cannot read the value although format and type match: the type has changed.</summary>
    Unreadable,

    /// <summary>The decompressed value is larger than this cache allows.</summary>
    TooLarge,
}
