using System.Xml;

namespace Cairn.Caching.Serialization;

/// <summary>Scans a binary document before it is read, to enforce the limits of <see cref="XmlScope"/>.</summary>
/// <remarks>
/// The records are those of Microsoft's [MC-NBFX], ".NET Binary Format: XML Data Structure", section 2.2. An unknown record makes the document
/// unreadable.
/// </remarks>
internal ref struct XmlBinaryScan
{
    private ReadOnlySpan<byte> _rest;
    private XmlScope _scope;

    private XmlBinaryScan(ReadOnlySpan<byte> document, Span<ushort> attributesByDepth)
    {
        _rest = document;
        _scope = new XmlScope(attributesByDepth);
    }

    /// <summary>Checks a complete document.</summary>
    /// <exception cref="XmlException">A limit is exceeded, or a record is unknown or incomplete.</exception>
    public static void Check(ReadOnlySpan<byte> document) => new XmlBinaryScan(document, stackalloc ushort[XmlLimits.MaxDepth]).Run();

    private void Run()
    {
        while (!_rest.IsEmpty)
        {
            byte record = Byte();
            switch (record)
            {
                case 0x01: // End of an element.
                    _scope.Close();
                    break;
                case 0x02: // Comment.
                    Text();
                    break;
                case 0x03:
                    Array();
                    break;
                case >= 0x04 and <= 0x3F:
                    _scope.AddAttribute();
                    Attribute(record);
                    break;
                case >= 0x40 and <= 0x77:
                    _scope.Open();
                    Element(record);
                    break;
                case >= 0x80 and <= 0xBD:
                    Value(record & 0xFE);
                    if ((record & 1) != 0) // The record also ends the element.
                    {
                        _scope.Close();
                    }

                    break;
                default:
                    throw Unknown();
            }
        }
    }

    // The value of an attribute follows as a record of its own. A declaration has a text or the number of a text.
    private void Attribute(byte record)
    {
        switch (record)
        {
            case 0x04 or (>= 0x26 and <= 0x3F): // name
                Text();
                break;
            case 0x05: // prefix, name
                Text();
                Text();
                break;
            case 0x06 or (>= 0x0C and <= 0x25): // number of the name
                Number();
                break;
            case 0x07: // prefix, number of the name
                Text();
                Number();
                break;
            case 0x08: // xmlns: namespace
                Text();
                return;
            case 0x09: // xmlns: prefix, namespace
                Text();
                Text();
                return;
            case 0x0A: // xmlns: number of the namespace
                Number();
                return;
            default: // 0x0B, xmlns: prefix, number of the namespace
                Text();
                Number();
                return;
        }

        byte value = Byte();
        if (value is < 0x80 or > 0xBD)
        {
            throw Unknown();
        }

        Value(value & 0xFE);
    }

    private void Element(byte record)
    {
        switch (record)
        {
            case 0x40 or >= 0x5E: // name
                Text();
                break;
            case 0x41: // prefix, name
                Text();
                Text();
                break;
            case 0x43: // prefix, number of the name
                Text();
                Number();
                break;
            default: // 0x42, 0x44 to 0x5D: number of the name
                Number();
                break;
        }
    }

    // An element that stands for many: its record, its attributes, its end, the record of the values, their number, and the values.
    private void Array()
    {
        _scope.Open();
        byte record = Byte();
        if (record is < 0x40 or > 0x77)
        {
            throw Unknown();
        }

        Element(record);
        while ((record = Byte()) is >= 0x04 and <= 0x3F)
        {
            _scope.AddAttribute();
            Attribute(record);
        }

        if (record != 0x01)
        {
            throw Unknown();
        }

        long bytes = Byte() switch
        {
            0xB5 => 1,
            0x8B => 2,
            0x8D or 0x91 => 4,
            0x8F or 0x93 or 0x97 or 0xAF => 8,
            0x95 or 0xB1 => 16,
            _ => throw Unknown(),
        };
        Skip(bytes * Number());
        _scope.Close();
    }

    private void Value(int record)
    {
        switch (record)
        {
            case 0x80 or 0x82 or 0x84 or 0x86 or 0xA4 or 0xA6 or 0xA8: // 0, 1, false, true, a list's begin and end, nothing
                break;
            case 0x88 or 0xB4:
                Skip(1);
                break;
            case 0x8A:
                Skip(2);
                break;
            case 0x8C or 0x90:
                Skip(4);
                break;
            case 0x8E or 0x92 or 0x96 or 0xAE or 0xB2:
                Skip(8);
                break;
            case 0x94 or 0xAC or 0xB0:
                Skip(16);
                break;
            case 0x98 or 0x9E or 0xB6: // characters or bytes, their number in one byte
                Skip(Byte());
                break;
            case 0x9A or 0xA0 or 0xB8:
                Skip(BinaryPrimitives.ReadUInt16LittleEndian(Take(2)));
                break;
            case 0x9C or 0xA2 or 0xBA:
                Skip(BinaryPrimitives.ReadInt32LittleEndian(Take(4)));
                break;
            case 0xAA: // number of a text
                Number();
                break;
            case 0xBC: // prefix, number of a name
                Skip(1);
                Number();
                break;
            default:
                throw Unknown();
        }
    }

    private void Text() => Skip(Number());

    // Seven bits per byte, the lowest first.
    private int Number()
    {
        int number = 0;
        for (int shift = 0; ; shift += 7)
        {
            byte part = Byte();
            if (shift == 28 && part > 0x07)
            {
                throw Unknown();
            }

            number |= (part & 0x7F) << shift;
            if ((part & 0x80) == 0)
            {
                return number;
            }
        }
    }

    private byte Byte() => Take(1)[0];

    private void Skip(long bytes)
    {
        if (bytes < 0 || bytes > _rest.Length)
        {
            throw Unknown();
        }

        _rest = _rest[(int)bytes..];
    }

    private ReadOnlySpan<byte> Take(int bytes)
    {
        ReadOnlySpan<byte> taken = _rest;
        Skip(bytes);
        return taken[..bytes];
    }

    private static XmlException Unknown() => new("The document has a record that is not known or not whole.");
}
