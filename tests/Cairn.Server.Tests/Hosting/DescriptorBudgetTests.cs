using Cairn.Server.Hosting;
using Cairn.Server.Tests.Testing;

namespace Cairn.Server.Tests.Hosting;

/// <summary>The server divides the descriptors of its process before it serves, so that it always has enough for itself.</summary>
public sealed class DescriptorBudgetTests
{
    private readonly TestLog _log = new();

    [Theory]
    [InlineData(10_256, false, 10_000)]
    [InlineData(10_512, true, 10_000)]
    [InlineData(1024, false, 768)]
    [InlineData(1024, true, 512)]
    [InlineData(257, false, 1)]
    [InlineData(513, true, 1)]
    public void Connections_get_what_the_server_leaves(long descriptors, bool hasHttp, int connections)
    {
        ConnectionLimits limits = DescriptorBudget.Fit(new ConnectionLimits(), hasHttp, descriptors, _log);

        Assert.Equal(connections, limits.MaxConnections);
        Assert.Equal(connections == 10_000 ? 0 : 1, _log.Lines.Count);
        Assert.All(_log.Lines, line => Assert.Contains($"at most {connections} are accepted. Raise the limit to 10", line.Message, StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(256, false, "257 is the least, and 10256 are needed for 10000 connections")]
    [InlineData(512, true, "513 is the least (without the dashboard, --http off, 257), and 10512 are needed for 10000 connections")]
    [InlineData(64, true, "This process may have 64 files open")]
    public void Server_without_descriptors_for_connections_is_refused_with_the_number_that_it_needs(long descriptors, bool hasHttp, string message)
    {
        ServerException refused = Assert.Throws<ServerException>(() => DescriptorBudget.Fit(new ConnectionLimits(), hasHttp, descriptors, _log));

        Assert.Contains(message, refused.Message, StringComparison.Ordinal);
        Assert.Contains("'ulimit -n 10", refused.Message, StringComparison.Ordinal);
        Assert.Contains("LimitNOFILE=", refused.Message, StringComparison.Ordinal);
    }
}
