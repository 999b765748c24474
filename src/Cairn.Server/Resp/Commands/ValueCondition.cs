using System.IO.Hashing;

namespace Cairn.Server.Resp.Commands;

/// <summary>How a value is compared.</summary>
internal enum ConditionKind
{
    None,
    Equal,
    NotEqual,
    DigestEqual,
    DigestNotEqual,
}

/// <summary>A condition on the present value of a key: IFEQ, IFNE, IFDEQ or IFDNE with the argument behind it, as in Redis 8.4.</summary>
internal readonly record struct ValueCondition(ConditionKind Kind, int Argument)
{
    /// <summary>The length of a digest in hexadecimal.</summary>
    public const int DigestChars = 16;

    /// <summary>Gets whether the condition is met if the key does not exist.</summary>
    public bool IsMetByMiss => Kind is ConditionKind.None or ConditionKind.NotEqual or ConditionKind.DigestNotEqual;

    /// <summary>Returns which condition an argument is.</summary>
    public static ConditionKind KindAt(scoped in RespArguments arguments, int i) =>
        arguments.Is(i, "ifeq"u8) ? ConditionKind.Equal
        : arguments.Is(i, "ifne"u8) ? ConditionKind.NotEqual
        : arguments.Is(i, "ifdeq"u8) ? ConditionKind.DigestEqual
        : arguments.Is(i, "ifdne"u8) ? ConditionKind.DigestNotEqual
        : ConditionKind.None;

    /// <summary>Writes a value's digest, the XXH3 of 64 bits, in hexadecimal.</summary>
    public static void WriteDigest(ReadOnlySpan<byte> value, Span<byte> text) => XxHash3.HashToUInt64(value).TryFormat(text, out _, "x16", CultureInfo.InvariantCulture);

    /// <summary>Returns whether a value meets the condition.</summary>
    /// <param name="arguments">The arguments of the request.</param>
    /// <param name="value">The value.</param>
    /// <param name="isMet">Whether the condition is met.</param>
    /// <param name="writer">The writer of the reply.</param>
    /// <returns>False, after writing the error, if the condition is not valid.</returns>
    public bool TryMeet(scoped in RespArguments arguments, ReadOnlySpan<byte> value, out bool isMet, ref RespWriter writer)
    {
        isMet = true;
        if (Kind == ConditionKind.None)
        {
            return true;
        }

        ReadOnlySpan<byte> wanted = arguments[Argument];
        if (Kind is ConditionKind.Equal or ConditionKind.NotEqual)
        {
            isMet = value.SequenceEqual(wanted) == (Kind == ConditionKind.Equal);
            return true;
        }

        if (wanted.Length != DigestChars)
        {
            writer.WriteError("ERR must be exactly 16 hexadecimal characters"u8);
            return false;
        }

        Span<byte> digest = stackalloc byte[DigestChars];
        WriteDigest(value, digest);
        isMet = Text.EqualsIgnoreCase(wanted, digest) == (Kind == ConditionKind.DigestEqual);
        return true;
    }
}
