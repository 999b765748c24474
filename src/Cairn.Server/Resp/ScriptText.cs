using System.Security.Cryptography;

namespace Cairn.Server.Resp;

// The digests by which scripts are known. Clients name a script by the SHA-1 of its text. The table of known scripts names it by the SHA-1
// of its normal form, in which the versions of a library, and libraries that copied from each other, are the same:
//
//   comments, white space and semicolons are left out, and quotes are single quotes
//   the name of a command, which is the string behind call(, is in lower case
internal static class ScriptText
{
    public const int DigestBytes = SHA1.HashSizeInBytes;

    // The longest known script has 600 bytes.
    private const int LongestText = 4096;

#pragma warning disable CA5350 // The digest only names scripts in this protocol. It protects no secret.
    /// <summary>Computes the digest by which clients name a script.</summary>
    public static void Digest(ReadOnlySpan<byte> text, Span<byte> digest) => SHA1.HashData(text, digest);

    /// <summary>Returns the digest of a script's normal form in lower-case hexadecimal; empty for a text that is too long to be known.</summary>
    public static string NormalDigest(ReadOnlySpan<byte> text) =>
        text.Length > LongestText ? "" : Convert.ToHexStringLower(SHA1.HashData(Normalize(text)));
#pragma warning restore CA5350

    private static ReadOnlySpan<byte> Normalize(ReadOnlySpan<byte> text)
    {
        var normal = new ArrayBufferWriter<byte>(text.Length + 1);
        while (!text.IsEmpty)
        {
            byte next = text[0];
            if (next is (byte)' ' or (byte)';' or (>= (byte)'\t' and <= (byte)'\r'))
            {
                text = text[1..];
            }
            else if (text.StartsWith("--"u8))
            {
                text = text[CommentLength(text)..];
            }
            else if (next is (byte)'\'' or (byte)'"')
            {
                int length = StringLength(text);
                ReadOnlySpan<byte> content = text[1..length];
                bool isCommand = normal.WrittenSpan.EndsWith("call("u8);
                normal.Write("'"u8);
                Span<byte> copy = normal.GetSpan(content.Length + 1);
                content.CopyTo(copy);
                if (isCommand)
                {
                    Ascii.ToLowerInPlace(copy[..content.Length], out _);
                }

                normal.Advance(content.Length);
                normal.Write("'"u8);
                text = text[Math.Min(length + 1, text.Length)..];
            }
            else
            {
                normal.Write(text[..1]);
                text = text[1..];
            }
        }

        return normal.WrittenSpan;
    }

    private static int CommentLength(ReadOnlySpan<byte> text)
    {
        bool isLong = text.StartsWith("--[["u8);
        int end = isLong ? text.IndexOf("]]"u8) : text.IndexOfAny((byte)'\r', (byte)'\n');
        return end < 0 ? text.Length : end + (isLong ? 2 : 1);
    }

    // The index of the closing quote, or the text's length if there is none.
    private static int StringLength(ReadOnlySpan<byte> text)
    {
        int i = 1;
        while (i < text.Length && text[i] != text[0])
        {
            i += text[i] == '\\' ? 2 : 1;
        }

        return Math.Min(i, text.Length);
    }
}
