using Cairn.Benchmarks.Peers;

namespace Cairn.Benchmarks.Tests.Peers;

public class JavaPeersTests
{
    [Theory]
    [InlineData("ChronicleMap                 n=1000000 write_ns_per_op=1061 read_ns_per_op=539", JavaPeers.ChronicleMap, 1061, 539)]
    [InlineData("MapDB mmap, no commit        n=100000 write_ns_per_op=1958 read_ns_per_op=1874", JavaPeers.MapDb, 1958, 1874)]
    [InlineData("MapDB mmap, commit each      n=2000 write_ns_per_op=2300000 read_ns_per_op=1874", JavaPeers.MapDbCommitted, 2_300_000, 1874)]
    [InlineData("MapDB mmap+WAL, commit each  n=2000 write_ns_per_op=17000000 read_ns_per_op=1874", JavaPeers.MapDbLogged, 17_000_000, 1874)]
    public void Figures_of_a_map_are_read_from_its_line(string line, string map, double putNs, double getNs) =>
        Assert.Equal((map, new JavaFigures(putNs, getNs)), JavaPeers.ParseLine(line));

    [Theory]
    [InlineData("ConcurrentHashMap            n=1000000 write_ns_per_op=40 read_ns_per_op=20")]
    [InlineData("WARNING: something of the JVM")]
    [InlineData("")]
    public void Other_lines_say_nothing(string line) => Assert.Null(JavaPeers.ParseLine(line));
}
