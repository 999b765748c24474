using System.Globalization;

namespace Cairn.Soak.Load;

/// <summary>A client that sends the three requests of the model in one of the protocols.</summary>
internal abstract class KeyValueClient(int port) : IDisposable
{
    protected LineConnection Connection { get; } = new(port);

    public static KeyValueClient Connect(ServerPorts ports, bool isResp) => isResp ? new RespClient(ports.Resp) : new MemcachedClient(ports.Memcached);

    /// <summary>Sets a value. Returns true if the server acknowledged it, and false if the server refused it.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    /// <param name="seconds">The time to live in seconds. 0 for none.</param>
    public abstract bool Set(string key, string value, int seconds);

    /// <summary>Returns the value of a key, or null if it has none.</summary>
    public abstract string? Get(string key);

    public abstract void Remove(string key);

    public void Dispose() => Connection.Dispose();

    protected static InvalidDataException Unexpected(string request, string reply) => new($"'{request}' was answered '{reply}'");
}

internal sealed record ServerPorts(int Memcached, int Resp);

internal sealed class MemcachedClient(int port) : KeyValueClient(port)
{
    public override bool Set(string key, string value, int seconds)
    {
        Connection.Send(string.Create(CultureInfo.InvariantCulture, $"set {key} 0 {seconds} {value.Length}\r\n{value}\r\n"));
        string reply = Connection.ReadLine();
        return reply == "STORED" || (reply.StartsWith("SERVER_ERROR", StringComparison.Ordinal) ? false : throw Unexpected("set", reply));
    }

    public override string? Get(string key)
    {
        Connection.Send($"get {key}\r\n");
        string reply = Connection.ReadLine();
        if (reply == "END")
        {
            return null;
        }

        string[] words = reply.Split(' ');
        if (words is not ["VALUE", _, _, _] || words[1] != key)
        {
            throw Unexpected($"get {key}", reply);
        }

        string value = Connection.ReadBlock(int.Parse(words[3], CultureInfo.InvariantCulture));
        string end = Connection.ReadLine();
        return end == "END" ? value : throw Unexpected($"get {key}", end);
    }

    public override void Remove(string key)
    {
        Connection.Send($"delete {key}\r\n");
        string reply = Connection.ReadLine();
        if (reply is not ("DELETED" or "NOT_FOUND"))
        {
            throw Unexpected("delete", reply);
        }
    }
}

internal sealed class RespClient(int port) : KeyValueClient(port)
{
    public override bool Set(string key, string value, int seconds)
    {
        Ask(seconds == 0 ? ["SET", key, value] : ["SET", key, value, "EX", LineConnection.Text(seconds)]);
        string reply = Connection.ReadLine();
        return reply == "+OK" || (reply.StartsWith('-') ? false : throw Unexpected("SET", reply));
    }

    public override string? Get(string key)
    {
        Ask("GET", key);
        string reply = Connection.ReadLine();
        return reply switch
        {
            "$-1" => null,
            ['$', ..] => Connection.ReadBlock(int.Parse(reply.AsSpan(1), CultureInfo.InvariantCulture)),
            _ => throw Unexpected($"GET {key}", reply),
        };
    }

    public override void Remove(string key)
    {
        Ask("DEL", key);
        string reply = Connection.ReadLine();
        if (!reply.StartsWith(':'))
        {
            throw Unexpected("DEL", reply);
        }
    }

    public void Ask(params ReadOnlySpan<string> words) => Connection.Send(Request(words));

    public static string Request(params ReadOnlySpan<string> words)
    {
        var text = new System.Text.StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"*{words.Length}\r\n");
        foreach (string word in words)
        {
            text.Append(CultureInfo.InvariantCulture, $"${word.Length}\r\n{word}\r\n");
        }

        return text.ToString();
    }
}
