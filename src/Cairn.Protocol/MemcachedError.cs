namespace Cairn.Protocol;

/// <summary>The errors that memcached reports for a request that it cannot serve. The texts are those of memcached 1.6.</summary>
internal enum MemcachedError : byte
{
    /// <summary>No error.</summary>
    None = 0,

    /// <summary><c>ERROR</c></summary>
    UnknownCommand,

    /// <summary><c>CLIENT_ERROR bad command line format</c></summary>
    BadCommandLineFormat,

    /// <summary><c>CLIENT_ERROR bad data chunk</c>: the data block does not end with a line end.</summary>
    BadDataChunk,

    /// <summary><c>CLIENT_ERROR line too long</c>, after which the connection is closed.</summary>
    LineTooLong,

    /// <summary><c>CLIENT_ERROR invalid exptime argument</c></summary>
    InvalidExpiration,

    /// <summary><c>CLIENT_ERROR invalid numeric delta argument</c></summary>
    InvalidDelta,

    /// <summary><c>CLIENT_ERROR bad command line format.  Usage: delete &lt;key&gt; [noreply]</c></summary>
    BadDeleteFormat,

    /// <summary><c>CLIENT_ERROR options flags are too long</c>, the form of <c>mg</c>.</summary>
    TooManyGetFlags,

    /// <summary><c>CLIENT_ERROR options flags too long</c>, the form of the other meta commands.</summary>
    TooManyFlags,

    /// <summary><c>CLIENT_ERROR duplicate flag</c></summary>
    DuplicateFlag,

    /// <summary><c>CLIENT_ERROR invalid flag</c></summary>
    InvalidFlag,

    /// <summary><c>CLIENT_ERROR invalid or duplicate flag</c></summary>
    InvalidOrDuplicateFlag,

    /// <summary><c>CLIENT_ERROR bad token in command line format</c></summary>
    BadToken,

    /// <summary><c>CLIENT_ERROR error decoding key</c></summary>
    BadBase64Key,

    /// <summary><c>CLIENT_ERROR incorrect length for M token</c></summary>
    BadModeLength,

    /// <summary><c>CLIENT_ERROR invalid mode for ms M token</c></summary>
    InvalidSetMode,

    /// <summary><c>CLIENT_ERROR invalid mode for ma M token</c></summary>
    InvalidArithmeticMode,

    /// <summary><c>CLIENT_ERROR invalid numeric initial value</c></summary>
    InvalidInitialValue,

    /// <summary><c>CLIENT_ERROR invalid numeric delta value</c></summary>
    InvalidDeltaValue,

    /// <summary><c>CLIENT_ERROR opaque token too long</c></summary>
    OpaqueTooLong,

    /// <summary>An HTTP request. The connection is closed without a reply.</summary>
    HttpRequest,

    /// <summary>A request of memcached's binary protocol. The connection is closed without a reply.</summary>
    BinaryProtocol,

    /// <summary><c>CLIENT_ERROR cannot increment or decrement non-numeric value</c></summary>
    NotANumber,

    /// <summary><c>CLIENT_ERROR unauthenticated</c></summary>
    Unauthenticated,

    /// <summary><c>CLIENT_ERROR authentication failure</c></summary>
    AuthenticationFailure,

    /// <summary><c>CLIENT_ERROR bad authentication token format</c></summary>
    BadAuthenticationFormat,

    /// <summary><c>SERVER_ERROR object too large for cache</c></summary>
    ObjectTooLarge,

    /// <summary><c>SERVER_ERROR out of memory storing object</c></summary>
    OutOfMemoryStoring,

    /// <summary><c>SERVER_ERROR out of memory</c></summary>
    OutOfMemory,
}
