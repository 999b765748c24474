using System.Xml;

namespace Cairn.Caching.Serialization;

/// <summary>Scans a text document before it is read, to enforce the limits of <see cref="XmlScope"/>.</summary>
/// <remarks>
/// The scan only finds the beginnings and ends of tags. The reader detects all other errors. Each = outside of quotes counts as an attribute,
/// so the count is never too low.
/// </remarks>
internal static class XmlTextScan
{
    /// <summary>Checks a complete document.</summary>
    /// <exception cref="XmlException">A limit is exceeded, or a tag does not end.</exception>
    public static void Check(ReadOnlySpan<byte> document)
    {
        var scope = new XmlScope(stackalloc ushort[XmlLimits.MaxDepth]);
        for (int tag; (tag = document.IndexOf((byte)'<')) >= 0;)
        {
            document = document[tag..];
            if (document.StartsWith("<!--"u8))
            {
                document = Behind(document[4..], "-->"u8);
            }
            else if (document.StartsWith("<![CDATA["u8))
            {
                document = Behind(document[9..], "]]>"u8);
            }
            else if (document.StartsWith("<!"u8))
            {
                throw new XmlException("Document type definitions are not read.");
            }
            else if (document.StartsWith("<?"u8))
            {
                document = Behind(document[2..], "?>"u8);
            }
            else if (document.StartsWith("</"u8))
            {
                scope.Close();
                document = Behind(document, ">"u8);
            }
            else
            {
                document = document[StartTag(document, ref scope)..];
            }
        }
    }

    // Returns the length of the tag.
    private static int StartTag(ReadOnlySpan<byte> document, ref XmlScope scope)
    {
        scope.Open();
        ReadOnlySpan<byte> rest = document[1..];
        while (true)
        {
            int next = rest.IndexOfAny("=>\"'"u8);
            switch (next < 0 ? (byte)0 : rest[next])
            {
                case (byte)'=':
                    scope.AddAttribute();
                    rest = rest[(next + 1)..];
                    break;

                case (byte)'>':
                    if (next > 0 && rest[next - 1] == '/')
                    {
                        scope.Close();
                    }

                    return document.Length - rest.Length + next + 1;

                case 0:
                    throw new XmlException("A tag does not end.");

                default:
                    rest = Behind(rest[(next + 1)..], rest.Slice(next, 1));
                    break;
            }
        }
    }

    private static ReadOnlySpan<byte> Behind(ReadOnlySpan<byte> rest, ReadOnlySpan<byte> end)
    {
        int at = rest.IndexOf(end);
        return at < 0 ? throw new XmlException("The document ends within a tag.") : rest[(at + end.Length)..];
    }
}
