using System.Globalization;
using System.Text;

namespace Cairn.Protocol;

/// <summary>Describes requests and replies of memcached's protocol in words: all fields that differ from zero, in a fixed order.</summary>
internal static class MemcachedText
{
    /// <summary>Reads one request and describes it.</summary>
    public static string OfRequest(string input)
    {
        var bytes = Latin.Bytes(input);
        var status = MemcachedReader.TryRead(bytes, out var request, out int consumed);
        return Of(status, request, bytes, consumed);
    }

    public static string Of(ParseStatus status, in MemcachedRequest request, ReadOnlySpan<byte> input, int consumed)
    {
        var text = new StringBuilder();
        if (status != ParseStatus.Complete)
        {
            text.Append(CultureInfo.InvariantCulture, $"{status} ");
        }

        if (status is ParseStatus.Malformed or ParseStatus.Fatal)
        {
            text.Append(request.Error);
            AddIf(text, request.IsNoReply, " unsaid");
            AddNumber(text, "skip", request.SkipBytes);
            AddNumber(text, "consumed", consumed);
            return text.ToString();
        }

        if (status == ParseStatus.Incomplete)
        {
            return text.ToString().Trim();
        }

        text.Append(request.Command);
        AddText(text, "key", request.Key.Of(input));
        AddWords(text, request, input);
        AddNumber(text, "flags", request.ClientFlags);
        AddNumber(text, "exptime", request.ExpirationSeconds);
        AddNumber(text, "version", (long)request.Version);
        AddNumber(text, "delta", (long)request.Delta);
        AddNumber(text, "initial", (long)request.InitialValue);
        AddNumber(text, "vivify", request.VivifySeconds);
        AddNumber(text, "recache", request.RecacheSeconds);
        AddIf(text, request.Mode != 0, $" mode={(char)request.Mode}");
        AddIf(text, request.MetaFlags != 0, $" has={request.MetaFlags}");
        AddText(text, "opaque", request.Opaque.Of(input));
        AddIf(text, request.IsNoReply, " noreply");
        if (request.HasValue)
        {
            text.Append(
                status == ParseStatus.Complete
                    ? $" value={Latin.Text(request.Value.Of(input))}"
                    : $" value={request.Value.Length} of {request.TotalBytes}");
        }

        return text.ToString();
    }

    public static string Of(ParseStatus status, in MemcachedReply reply, ReadOnlySpan<byte> input)
    {
        if (status is ParseStatus.Incomplete or ParseStatus.Fatal)
        {
            return status.ToString();
        }

        var text = new StringBuilder();
        AddIf(text, status != ParseStatus.Complete, $"{status} ");
        text.Append(reply.Kind);
        AddIf(text, reply.Kind == MemcachedReplyKind.Meta, $" {reply.MetaCode}");
        AddText(text, "key", reply.Key.Of(input));
        AddText(text, "text", reply.Text.Of(input));
        AddNumber(text, "flags", reply.ClientFlags);
        AddIf(text, reply.Version is not null, $" version={reply.Version}");
        AddNumber(text, "number", (long)reply.Number);
        foreach (var flag in reply.EnumerateFlags(input))
        {
            text.Append(' ').Append(Latin.Text(flag));
        }

        AddIf(text, reply.HasValue && status == ParseStatus.Complete, $" value={Latin.Text(Slice(reply.Value, status, input))}");
        AddIf(text, status == ParseStatus.IncompleteValue, $" {reply.Value.Length} of {reply.TotalBytes}");
        return text.ToString();
    }

    private static ReadOnlySpan<byte> Slice(ByteRange range, ParseStatus status, ReadOnlySpan<byte> input) =>
        status == ParseStatus.Complete ? range.Of(input) : default;

    // Adds the keys after the first, or all other words.
    private static void AddWords(StringBuilder text, in MemcachedRequest request, ReadOnlySpan<byte> input)
    {
        bool isFirst = true;
        int count = 0;
        foreach (var word in request.EnumerateArguments(input))
        {
            count++;
            if (!isFirst || request.Command is < MemcachedCommand.Get or > MemcachedCommand.Gats)
            {
                text.Append(' ').Append(Latin.Text(word));
            }

            isFirst = false;
        }

        Assert.Equal(count, request.ArgumentCount);
    }

    private static void AddText(StringBuilder text, string name, ReadOnlySpan<byte> value)
    {
        if (!value.IsEmpty)
        {
            text.Append(CultureInfo.InvariantCulture, $" {name}={Latin.Text(value)}");
        }
    }

    private static void AddNumber(StringBuilder text, string name, long value) => AddIf(text, value != 0, $" {name}={value}");

    private static void AddIf(StringBuilder text, bool condition, string addition)
    {
        if (condition)
        {
            text.Append(addition);
        }
    }
}
