using System.Security.Cryptography;

namespace Cairn.Redis.Access;

/// <summary>A script that the server executes atomically. After the first execution, the client refers to it by its digest.</summary>
internal sealed class ServerScript
{
    [SuppressMessage("Security", "CA5350:Do not use weak cryptographic algorithms", Justification = "Redis names scripts by their SHA-1; nothing is secured by it.")]
    public ServerScript(string text)
    {
        Text = text;
        Digest = Convert.ToHexStringLower(SHA1.HashData(Encoding.UTF8.GetBytes(text)));
    }

    public string Text { get; }

    public string Digest { get; }

    /// <summary>Executes the script. In a Cluster, all keys must belong to one slot.</summary>
    /// <returns>The number that the script returns.</returns>
    public async ValueTask<long> RunAsync(IRedisAccess access, RedisArgument[] keys, RedisArgument[] arguments, CancellationToken cancellationToken)
    {
        try
        {
            return await RunAsync("EVALSHA", Digest).ConfigureAwait(false);
        }
        catch (RedisServerException error) when (error.Code == "NOSCRIPT")
        {
            return await RunAsync("EVAL", Text).ConfigureAwait(false);
        }

        ValueTask<long> RunAsync(string command, string script) =>
            access.NumberAsync([command, script, keys.Length, .. keys, .. arguments], 3, cancellationToken);
    }

    /// <summary>Returns whether an error means that the server runs no scripts, or none for this user.</summary>
    public static bool IsRefusal(RedisServerException error) =>
        error.Code == "NOPERM" || (error.Code == "ERR" && (error.Message.Contains("EVAL", StringComparison.OrdinalIgnoreCase)
            || error.Message.Contains("script", StringComparison.OrdinalIgnoreCase) || error.Message.Contains("Lua", StringComparison.OrdinalIgnoreCase)));
}
