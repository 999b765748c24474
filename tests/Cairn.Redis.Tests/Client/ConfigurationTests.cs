using System.Net;
using System.Net.Sockets;

namespace Cairn.Redis.Tests.Client;

/// <summary>The text of a configuration, in the syntax of StackExchange.Redis.</summary>
public sealed class ConfigurationTests
{
    [Fact]
    public void Every_setting_is_read()
    {
        var options = RedisClientOptions.Parse(
            "redis-1:7000, 127.0.0.1 ,[::1]:7001,user=reader,password=a=b;c,ssl=true,sslHost=redis.example,name=shop,defaultDatabase=3,"
            + "connectTimeout=1500,syncTimeout=700,asyncTimeout=900,protocol=resp2,abortConnect=false,allowAdmin=true,connectRetry=3,keepAlive=60");

        Assert.Equal(
            [new DnsEndPoint("redis-1", 7000), new IPEndPoint(IPAddress.Loopback, 6380), new IPEndPoint(IPAddress.IPv6Loopback, 7001)],
            options.EndPoints);
        Assert.Equal(("reader", "a=b;c", "redis.example", "shop", 3), (options.User, options.Password, options.TlsHost, options.ClientName, options.Database));
        Assert.Equal((TimeSpan.FromMilliseconds(1500), TimeSpan.FromMilliseconds(900)), (options.ConnectTimeout, options.OperationTimeout));
        Assert.True(options.UseTls);
        Assert.Equal(RedisProtocol.Resp2, options.Protocol);
        Assert.DoesNotContain("a=b", options.ToString(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("unix:/run/redis.sock")]
    [InlineData("/run/redis.sock")]
    [InlineData("!/run/redis.sock,password=x")]
    public void Unix_socket_is_an_end_point_in_each_of_its_forms(string text)
    {
        EndPoint place = Assert.Single(RedisClientOptions.Parse(text).EndPoints);

        Assert.Equal("/run/redis.sock", Assert.IsType<UnixDomainSocketEndPoint>(place).ToString());
    }

    [Theory]
    [InlineData("", "names no server")]
    [InlineData("unix:", "no port from 1 to 65535")]
    [InlineData("password=x", "names no server")]
    [InlineData("host:99999", "no port from 1 to 65535")]
    [InlineData("host:", "no port from 1 to 65535")]
    [InlineData("ho st", "names no server")]
    [InlineData("host,ssl=perhaps", "true or false")]
    [InlineData("host,defaultDatabase=x", "whole number")]
    [InlineData("host,defaultDatabase=-1", "whole number")]
    [InlineData("host,pasword=secret", "'pasword='")]
    [InlineData("host,ssl=true,ssl=false", "sets 'ssl' twice")]
    [InlineData("host,serviceName=master", "Sentinel is not supported")]
    [InlineData("host,protocol=resp4", "resp2 or resp3")]
    [InlineData("host,asyncTimeout=1", "OperationTimeout")]
    [InlineData("host,user=me", "without a password")]
    [InlineData("host,name=a b", "name 'a b'")]
    public void Unreadable_settings_are_reported_without_secrets(string text, string expected)
    {
        var error = Assert.Throws<FormatException>(() => RedisClientOptions.Parse(text));

        Assert.Contains(expected, error.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("secret", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Options_out_of_range_name_the_option_and_its_range()
    {
        RedisClientOptions good = RedisClientOptions.Parse("host");

        foreach (RedisClientOptions bad in new[]
        {
            good with { EndPoints = [] },
            good with { MaxPendingCalls = 0 },
            good with { MaxUnsentBytes = 1 },
            good with { OperationTimeout = TimeSpan.Zero },
            good with { ConnectTimeout = TimeSpan.FromHours(1) },
            good with { MinReconnectDelay = TimeSpan.FromMinutes(1) },
            good with { SilenceLimit = TimeSpan.Zero },
            good with { TopologyRefreshInterval = TimeSpan.Zero },
            good with { Protocol = (RedisProtocol)9 },
        })
        {
            Assert.ThrowsAny<ArgumentException>(() => RedisClient.Create(bad));
        }
    }
}
