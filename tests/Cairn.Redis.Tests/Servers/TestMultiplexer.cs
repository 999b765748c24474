using StackExchange.Redis;

namespace Cairn.Redis.Tests.Servers;

/// <summary>Multiplexers for tests.</summary>
internal static class TestMultiplexer
{
    /// <summary>
    /// Connects. The time-outs also decide how soon a multiplexer connects again, so a test whose server ends leaves them as they are.
    /// </summary>
    public static Task<ConnectionMultiplexer> ConnectAsync(string configuration)
    {
        ConfigurationOptions options = ConfigurationOptions.Parse(configuration);
        options.AbortOnConnectFail = false;
        options.HeartbeatInterval = TimeSpan.FromMilliseconds(100);
        options.ReconnectRetryPolicy = new LinearRetry(100);
        return ConnectionMultiplexer.ConnectAsync(options);
    }
}
