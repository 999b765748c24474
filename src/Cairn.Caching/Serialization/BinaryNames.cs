using System.Xml;

namespace Cairn.Caching.Serialization;

// The names of elements, to which binary XML refers by number, so that each name is written once and not with every element.
//
//   | binary XML | names: length, 7 bits a byte, and UTF-8, each | bytes of the names: u32 |
//
// The names follow the document, because they are known only when it is written.
internal sealed class BinaryNames : XmlBinaryWriterSession
{
    private const int LengthBytes = sizeof(uint);

    private readonly List<string> _names = [];

    public override bool TryAdd(XmlDictionaryString value, out int key)
    {
        if (!base.TryAdd(value, out key))
        {
            return false;
        }

        // Keys are assigned in ascending order.
        _names.Add(value.Value);
        return true;
    }

    public void WriteTo(IBufferWriter<byte> target)
    {
        int total = 0;
        foreach (string name in _names)
        {
            int bytes = Encoding.UTF8.GetByteCount(name);
            Span<byte> span = target.GetSpan(bytes + 5);
            int at = 0;
            for (uint rest = (uint)bytes; ; rest >>= 7)
            {
                span[at++] = (byte)(rest > 0x7F ? (rest & 0x7F) | 0x80 : rest);
                if (rest <= 0x7F)
                {
                    break;
                }
            }

            at += Encoding.UTF8.GetBytes(name, span[at..]);
            target.Advance(at);
            total += at;
        }

        BinaryPrimitives.WriteUInt32LittleEndian(target.GetSpan(LengthBytes), (uint)total);
        target.Advance(LengthBytes);
    }

    /// <summary>Reads the names that follow a document.</summary>
    /// <param name="payload">The document with the names.</param>
    /// <param name="documentBytes">The length of the document.</param>
    /// <exception cref="InvalidDataException">The names are damaged.</exception>
    public static XmlBinaryReaderSession Read(ReadOnlySpan<byte> payload, out int documentBytes)
    {
        uint total = payload.Length < LengthBytes ? uint.MaxValue : BinaryPrimitives.ReadUInt32LittleEndian(payload[^LengthBytes..]);
        if (total > payload.Length - LengthBytes)
        {
            throw Damaged();
        }

        documentBytes = payload.Length - LengthBytes - (int)total;
        ReadOnlySpan<byte> names = payload.Slice(documentBytes, (int)total);
        var session = new XmlBinaryReaderSession();
        for (int key = 0; !names.IsEmpty; key++)
        {
            int length = 0;
            int at = 0;
            byte part;
            do
            {
                if (at == names.Length || at == 4)
                {
                    throw Damaged();
                }

                part = names[at];
                length |= (part & 0x7F) << (7 * at++);
            }
            while ((part & 0x80) != 0);

            if (length > names.Length - at)
            {
                throw Damaged();
            }

            session.Add(key, Encoding.UTF8.GetString(names.Slice(at, length)));
            names = names[(at + length)..];
        }

        return session;
    }

    private static InvalidDataException Damaged() => new("The names behind the document are damaged.");
}
