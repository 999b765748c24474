using Cairn.Clients.Connections;
using Cairn.Protocol;

namespace Cairn.Redis.Resp;

/// <summary>A call whose reply is RESP.</summary>
internal sealed class RespCall<T> : ReplyCall<T>
{
    private ReplyParser<T>? _parser;
    private object? _parserState;

    public static RespCall<T> Rent(ReplyParser<T> parser, object? parserState, CompletionQueue completions, long nowMs, long timeoutMs)
    {
        RespCall<T> call = CallPool<RespCall<T>>.Rent();
        call._parser = parser;
        call._parserState = parserState;
        call.Completions = completions;
        call.Start(nowMs, timeoutMs);
        return call;
    }

    protected override T? Read(ReadOnlySpan<byte> reply)
    {
        var reader = new RespReplyReader(reply);
        reader.Read();
        while (reader.Type == RespType.Attribute)
        {
            reader.Skip();
            reader.Read();
        }

        if (reader.IsError)
        {
            Reject(new RedisServerException(EarlierError ?? Encoding.UTF8.GetString(reader.Value)));
            return default;
        }

        return _parser!(ref reader, _parserState);
    }

    protected override void Recycle()
    {
        base.Recycle();
        _parser = null;
        _parserState = null;
        CallPool<RespCall<T>>.Return(this);
    }
}
