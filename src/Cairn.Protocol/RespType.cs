namespace Cairn.Protocol;

/// <summary>The types of RESP2 and RESP3, by their first byte.</summary>
public enum RespType : byte
{
    /// <summary>Nothing was read.</summary>
    None = 0,

    /// <summary><c>+</c>: a simple string.</summary>
    SimpleString = (byte)'+',

    /// <summary><c>-</c>: an error.</summary>
    Error = (byte)'-',

    /// <summary><c>:</c>: a whole number of 64 bits.</summary>
    Integer = (byte)':',

    /// <summary><c>$</c>: a string of any bytes.</summary>
    BulkString = (byte)'$',

    /// <summary><c>*</c>: an array.</summary>
    Array = (byte)'*',

    /// <summary><c>_</c>: nothing. RESP2's null string and null array are of this type too.</summary>
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

    /// <summary><c>&gt;</c>: a push, which answers no request.</summary>
    Push = (byte)'>',

    /// <summary><c>|</c>: attributes of the element after them.</summary>
    Attribute = (byte)'|',
}
