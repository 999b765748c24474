using Google.Protobuf;

namespace Cairn.Caching.Protobuf.Members;

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

    /// <summary>What is written before each value.</summary>
    public uint Tag { get; }

    public int TagBytes { get; }

    /// <summary>Whether a field on the wire has a form that <see cref="Read"/> understands. If not, it is skipped as unknown.</summary>
    public virtual bool Accepts(uint tag) => tag == Tag;

    /// <summary>Reads one field whose tag has been read.</summary>
    /// <param name="input">Behind the tag.</param>
    /// <param name="owner">What the value is set in.</param>
    /// <param name="pending">The member's own place for values that are set when the message ends; null at first.</param>
    public abstract void Read(ref ParseContext input, ref TOwner owner, ref object? pending);

    /// <summary>Sets what <see cref="Read"/> left in its place.</summary>
    public virtual void Finish(ref TOwner owner, object pending)
    {
    }

    /// <summary>Writes the member with its tag, or nothing if it is absent.</summary>
    public abstract void Write(ref WriteContext output, ref TOwner owner);

    /// <summary>Bytes that <see cref="Write"/> writes.</summary>
    public abstract int Size(ref TOwner owner);
}
