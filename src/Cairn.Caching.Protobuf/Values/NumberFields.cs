using Google.Protobuf;
using Google.Protobuf.Reflection;

namespace Cairn.Caching.Protobuf.Values;

/// <summary>Reads a message of up to four numbers: the forms of GUIDs, decimals and times. Other fields are skipped.</summary>
/// <remarks>
/// There is one instance for each thread. The message contains no message of the same kind, so it is never used twice at a time.
/// </remarks>
internal sealed class NumberFields : IBufferMessage
{
    [ThreadStatic]
    private static NumberFields? t_instance;

    public ulong First { get; private set; }

    public ulong Second { get; private set; }

    public ulong Third { get; private set; }

    public ulong Fourth { get; private set; }

    public MessageDescriptor Descriptor => throw new NotSupportedException("There is no schema behind this message.");

    public static NumberFields Read(ref ParseContext input)
    {
        NumberFields fields = t_instance ??= new NumberFields();
        fields.First = fields.Second = fields.Third = fields.Fourth = 0;
        input.ReadMessage(fields);
        return fields;
    }

    public void InternalMergeFrom(ref ParseContext ctx)
    {
        uint tag;
        while ((tag = ctx.ReadTag()) != 0)
        {
            ulong value;
            switch (WireFormat.GetTagWireType(tag))
            {
                case WireFormat.WireType.Varint:
                    value = ctx.ReadUInt64();
                    break;
                case WireFormat.WireType.Fixed64:
                    value = ctx.ReadFixed64();
                    break;
                case WireFormat.WireType.Fixed32:
                    value = ctx.ReadFixed32();
                    break;
                case WireFormat.WireType.EndGroup:
                    return;
                default:
                    UnknownFieldSet.MergeFieldFrom(null, ref ctx);
                    continue;
            }

            switch (WireFormat.GetTagFieldNumber(tag))
            {
                case 1:
                    First = value;
                    break;
                case 2:
                    Second = value;
                    break;
                case 3:
                    Third = value;
                    break;
                case 4:
                    Fourth = value;
                    break;
                default:
                    break;
            }
        }
    }

    public void InternalWriteTo(ref WriteContext ctx) => throw new NotSupportedException();

    public void MergeFrom(CodedInputStream input) => throw new NotSupportedException();

    public void WriteTo(CodedOutputStream output) => throw new NotSupportedException();

    public int CalculateSize() => throw new NotSupportedException();
}
