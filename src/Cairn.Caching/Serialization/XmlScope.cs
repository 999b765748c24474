using System.Xml;

namespace Cairn.Caching.Serialization;

// Counts the open elements of a document, and their attributes and namespace declarations.
//
//   I1  At most XmlLimits.MaxDepth elements are open.
//   I2  The open elements together have at most XmlLimits.MaxAttributes attributes and declarations.
//
// The framework's readers compare each attribute of an element with every other one, and search all open declarations for a prefix one by
// one. With I2 both cost a limited time for each byte, so the time of a read is proportional to the document's length.
internal ref struct XmlScope(Span<ushort> attributesByDepth)
{
    private readonly Span<ushort> _attributesByDepth = attributesByDepth;
    private int _depth;
    private int _attributes;

    /// <summary>Begins an element.</summary>
    public void Open()
    {
        if (_depth == _attributesByDepth.Length)
        {
            throw new XmlException($"The document is more than {_attributesByDepth.Length} levels deep.");
        }

        _attributesByDepth[_depth++] = 0;
    }

    /// <summary>Adds an attribute or declaration to the element that began last.</summary>
    public void AddAttribute()
    {
        if (_depth == 0 || ++_attributes > XmlLimits.MaxAttributes)
        {
            throw new XmlException($"More than {XmlLimits.MaxAttributes} attributes and namespaces are open at once.");
        }

        _attributesByDepth[_depth - 1]++;
    }

    /// <summary>Ends the innermost open element.</summary>
    public void Close()
    {
        if (_depth == 0)
        {
            throw new XmlException("More elements end than began.");
        }

        _attributes -= _attributesByDepth[--_depth];
    }
}
