using System.Xml;

namespace Cairn.Caching.Serialization;

// How much of a document is open at once: the elements at hand, and the attributes and namespace declarations that they carry.
//
//   I1  At most XmlLimits.MaxDepth elements are open.
//   I2  The open elements together have at most XmlLimits.MaxAttributes attributes and declarations.
//
// The framework's readers compare each attribute of an element with every other one, and look a prefix up in all declarations that are
// open, one by one. With I2 both cost a bounded time for each byte, so reading takes a time in proportion to the document's length.
internal ref struct XmlScope(Span<ushort> attributesByDepth)
{
    private readonly Span<ushort> _attributesByDepth = attributesByDepth;
    private int _depth;
    private int _attributes;

    /// <summary>An element begins.</summary>
    public void Open()
    {
        if (_depth == _attributesByDepth.Length)
        {
            throw new XmlException($"The document is more than {_attributesByDepth.Length} levels deep.");
        }

        _attributesByDepth[_depth++] = 0;
    }

    /// <summary>The element that began last has one more attribute or declaration.</summary>
    public void AddAttribute()
    {
        if (_depth == 0 || ++_attributes > XmlLimits.MaxAttributes)
        {
            throw new XmlException($"More than {XmlLimits.MaxAttributes} attributes and namespaces are open at once.");
        }

        _attributesByDepth[_depth - 1]++;
    }

    /// <summary>The element that began last and is open ends.</summary>
    public void Close()
    {
        if (_depth == 0)
        {
            throw new XmlException("More elements end than began.");
        }

        _attributes -= _attributesByDepth[--_depth];
    }
}
