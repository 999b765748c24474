using System.Globalization;
using System.Text;

namespace Cairn.Protocol;

/// <summary>Describes a reply in words: types by name, elements in brackets.</summary>
internal static class RespText
{
    public static string Of(ReadOnlySpan<byte> reply)
    {
        var reader = new RespReplyReader(reply);
        var text = new StringBuilder();
        Append(ref reader, text);
        Assert.Equal(reply.Length, reader.Position);
        return text.ToString();
    }

    private static void Append(ref RespReplyReader reader, StringBuilder text)
    {
        Assert.True(reader.Read());
        var type = reader.Type;
        text.Append(type);
        switch (type)
        {
            case RespType.Integer:
                Assert.True(reader.TryGetInt64(out long number));
                text.Append(CultureInfo.InvariantCulture, $" {number}");
                break;

            case RespType.Double:
                Assert.True(reader.TryGetDouble(out double value));
                text.Append(CultureInfo.InvariantCulture, $" {value}");
                break;

            case RespType.Boolean:
                text.Append(reader.Boolean ? " true" : " false");
                break;

            case RespType.VerbatimString:
                text.Append(CultureInfo.InvariantCulture, $" {Latin.Text(reader.Format)} {Latin.Text(reader.Value)}");
                break;

            case RespType.Null:
                Assert.True(reader.IsNull);
                break;

            case RespType.Array or RespType.Set or RespType.Push or RespType.Map or RespType.Attribute:
                int count = reader.Count * (type is RespType.Map or RespType.Attribute ? 2 : 1);
                text.Append('[');
                for (int i = 0; i < count; i++)
                {
                    text.Append(i == 0 ? "" : ", ");
                    Append(ref reader, text);
                }

                text.Append(']');
                if (type == RespType.Attribute)
                {
                    text.Append(' ');
                    Append(ref reader, text); // The value that the attributes describe.
                }

                break;

            default:
                text.Append(CultureInfo.InvariantCulture, $" {Latin.Text(reader.Value)}");
                break;
        }
    }
}
