using System.Security.Cryptography;

namespace Cairn.Server.Resp;

// The digests by which scripts are known. Clients name a script by the SHA-1 of its text. The table of known scripts names it by the SHA-1
// of its normal form, in which the versions of a library, and libraries that copied from each other, are the same:
//
//   comments, white space and semicolons are left out, and quotes are single quotes
//   the name of a command, which is the string behind call(, is in lower case
//   before the first block, a local that is an element of KEYS or ARGV is replaced by it, and other locals are numbered: $0, $1
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
        text.Length > LongestText ? "" : Convert.ToHexStringLower(SHA1.HashData(Encoding.Latin1.GetBytes(Normalize(Encoding.Latin1.GetString(text)))));
#pragma warning restore CA5350

    private static string Normalize(ReadOnlySpan<char> text)
    {
        var normal = new StringBuilder(text.Length);
        var locals = new List<(string Name, string Text)>();
        int numbered = 0;
        bool isBeforeBlocks = true; // There a local is the same for the rest of the script.
        while (!(text = SkipBlank(text)).IsEmpty)
        {
            if (text[0] is '\'' or '"')
            {
                int length = StringLength(text);
                bool isCommand = normal is [.., 'c', 'a', 'l', 'l', '('];
                string content = text[1..length].ToString();
                normal.Append('\'').Append(isCommand ? content.ToLowerInvariant() : content).Append('\'');
                text = text[Math.Min(length + 1, text.Length)..];
                continue;
            }

            ReadOnlySpan<char> word = text[..Math.Max(1, WordLength(text))];
            text = text[word.Length..];
            if (isBeforeBlocks && word is "local" && TryReadLocal(ref text, out string name, out string element))
            {
                if (element.Length == 0)
                {
                    element = $"${numbered++}";
                    normal.Append("local").Append(element);
                }

                locals.Add((name, element));
                continue;
            }

            isBeforeBlocks = isBeforeBlocks && word is not ("if" or "for" or "while" or "do" or "repeat" or "function");
            normal.Append(normal is [.., '.' or ':'] ? word : TextOf(locals, word));
        }

        return normal.ToString();
    }

    // Reads what follows "local". A local that is an element of KEYS or ARGV is read as a whole, another one up to the equals sign.
    private static bool TryReadLocal(ref ReadOnlySpan<char> text, out string name, out string element)
    {
        ReadOnlySpan<char> rest = SkipBlank(text);
        name = rest[..WordLength(rest)].ToString();
        element = "";
        rest = SkipBlank(rest[name.Length..]);
        if (name.Length == 0 || rest is not ['=', ..])
        {
            return false;
        }

        text = rest;
        rest = SkipBlank(rest[1..]);
        int end = rest.IndexOf(']');
        if (end > 0 && (rest.StartsWith("KEYS[") || rest.StartsWith("ARGV[")) && !rest[5..end].ContainsAnyExceptInRange('0', '9'))
        {
            // A word other than an operator begins the next statement.
            ReadOnlySpan<char> next = SkipBlank(rest[(end + 1)..]);
            if (next[..WordLength(next)] is not ("" or "and" or "or"))
            {
                element = rest[..(end + 1)].ToString();
                text = next;
            }
        }

        return true;
    }

    private static ReadOnlySpan<char> TextOf(List<(string Name, string Text)> locals, ReadOnlySpan<char> word)
    {
        for (int i = locals.Count - 1; i >= 0; i--)
        {
            if (word.SequenceEqual(locals[i].Name))
            {
                return locals[i].Text;
            }
        }

        return word;
    }

    private static int WordLength(ReadOnlySpan<char> text)
    {
        int i = 0;
        while (i < text.Length && (char.IsAsciiLetterOrDigit(text[i]) || text[i] == '_'))
        {
            i++;
        }

        return i;
    }

    private static ReadOnlySpan<char> SkipBlank(ReadOnlySpan<char> text)
    {
        while (text is [' ' or ';' or (>= '\t' and <= '\r'), ..] or ['-', '-', ..])
        {
            text = text[(text[0] == '-' ? CommentLength(text) : 1)..];
        }

        return text;
    }

    private static int CommentLength(ReadOnlySpan<char> text)
    {
        bool isLong = text.StartsWith("--[[");
        int end = isLong ? text.IndexOf("]]") : text.IndexOfAny('\r', '\n');
        return end < 0 ? text.Length : end + (isLong ? 2 : 1);
    }

    // The index of the closing quote, or the text's length if there is none.
    private static int StringLength(ReadOnlySpan<char> text)
    {
        int i = 1;
        while (i < text.Length && text[i] != text[0])
        {
            i += text[i] == '\\' ? 2 : 1;
        }

        return Math.Min(i, text.Length);
    }
}
