namespace Cairn.Protocol;

/// <summary>The statuses of replies in memcached's binary protocol.</summary>
internal enum MemcachedStatus : ushort
{
    Success = 0,
    NotFound = 0x01,

    /// <summary>The key exists, or has another version than expected.</summary>
    Exists = 0x02,
    TooLarge = 0x03,
    InvalidArguments = 0x04,
    NotStored = 0x05,
    NotANumber = 0x06,
    AuthenticationError = 0x20,

    /// <summary>The authentication needs another step.</summary>
    AuthenticationContinues = 0x21,
    UnknownCommand = 0x81,
    OutOfMemory = 0x82,
}
