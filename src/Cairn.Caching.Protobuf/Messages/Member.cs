using Google.Protobuf;

namespace Cairn.Caching.Protobuf.Messages;

/// <summary>Reads and writes one member of a contract.</summary>
internal abstract class Member<TOwner>
{
    protected Member(int number, WireFormat.WireType wireType)
    {
        Number = number;
        Tag = WireFormat.MakeTag(number, wireType);
        TagBytes = CodedOutputStream.ComputeTagSize(number);
    }

    public int Number { get; }

    /// <summary>Gets the tag that precedes each value.</summary>
    public uint Tag { get; }

    public int TagBytes { get; }

    /// <summary>Returns whether <see cref="Read"/> supports the wire type of a field. Otherwise the field is skipped as unknown.</summary>
    public virtual bool Accepts(uint tag) => tag == Tag;

    /// <summary>Reads one field whose tag has been read.</summary>
    /// <param name="input">The input, positioned after the tag.</param>
    /// <param name="owner">The object whose member is set.</param>
    /// <param name="pending">Storage of this member for values that are set when the message ends; null at first.</param>
    public abstract void Read(ref ParseContext input, ref TOwner owner, ref object? pending);

    /// <summary>Sets the values that <see cref="Read"/> kept pending.</summary>
    public virtual void Finish(ref TOwner owner, object pending)
    {
    }

    /// <summary>Writes the member with its tag. Writes nothing if the member is absent.</summary>
    public abstract void Write(ref WriteContext output, ref TOwner owner);

    /// <summary>Returns the number of bytes that <see cref="Write"/> writes.</summary>
    public abstract int Size(ref TOwner owner);
}
