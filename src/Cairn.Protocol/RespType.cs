namespace Cairn.Protocol;

/// <summary>The types of RESP2 and RESP3. The value is their first byte.</summary>
internal enum RespType : byte
{
    /// <summary>No element was read.</summary>
    None = 0,

    /// <summary><c>+</c>: a simple string.</summary>
    SimpleString = (byte)'+',

    /// <summary><c>-</c>: an error.</summary>
    Error = (byte)'-',

    /// <summary><c>:</c>: a 64-bit whole number.</summary>
    Integer = (byte)':',

    /// <summary><c>$</c>: a string of any bytes.</summary>
    BulkString = (byte)'$',

    /// <summary><c>*</c>: an array.</summary>
    Array = (byte)'*',

    /// <summary><c>_</c>: null. RESP2's null string and null array also have this type.</summary>
    Null = (byte)'_',

    /// <summary><c>#</c>: true or false.</summary>
    Boolean = (byte)'#',

    /// <summary><c>,</c>: a floating-point number.</summary>
    Double = (byte)',',

    /// <summary><c>(</c>: a whole number of any length.</summary>
    BigNumber = (byte)'(',

    /// <summary><c>!</c>: an error of any bytes.</summary>
    BulkError = (byte)'!',

    /// <summary><c>=</c>: a text and its format.</summary>
    VerbatimString = (byte)'=',

    /// <summary><c>%</c>: a map.</summary>
    Map = (byte)'%',

    /// <summary><c>~</c>: a set.</summary>
    Set = (byte)'~',

    /// <summary><c>&gt;</c>: a push, which is not the reply to a request.</summary>
    Push = (byte)'>',

    /// <summary><c>|</c>: attributes of the following element.</summary>
    Attribute = (byte)'|',
}
