namespace Cairn.Protocol;

/// <summary>The protocol errors of a RESP request. <see cref="RespRequestReader.FormatError"/> returns Redis' text for each.</summary>
internal enum RespProtocolError : byte
{
    /// <summary>No error.</summary>
    None = 0,

    /// <summary><c>invalid multibulk length</c></summary>
    InvalidArrayLength,

    /// <summary><c>unauthenticated multibulk length</c></summary>
    UnauthenticatedArrayLength,

    /// <summary><c>too big mbulk count string</c></summary>
    ArrayLengthTooLong,

    /// <summary><c>expected '$', got 'X'</c></summary>
    ExpectedBulk,

    /// <summary><c>invalid bulk length</c></summary>
    InvalidBulkLength,

    /// <summary><c>unauthenticated bulk length</c></summary>
    UnauthenticatedBulkLength,

    /// <summary><c>too big bulk count string</c></summary>
    BulkLengthTooLong,

    /// <summary><c>too big inline request</c></summary>
    InlineTooLong,

    /// <summary><c>unbalanced quotes in request</c></summary>
    UnbalancedQuotes,

    /// <summary>
    /// The request is longer than <see cref="RespLimits.MaxRequestBytes"/>. The text is empty, because Redis closes the connection
    /// without a reply.
    /// </summary>
    RequestTooLong,
}
