using Cairn.Soak;
using Cairn.Soak.Drift;
using Cairn.Soak.Measuring;
using Cairn.Soak.Reporting;

namespace Cairn.Benchmarks.Tests.Soak;

public sealed class SoakFolderTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Folder_that_is_opened_again_continues()
    {
        SoakFolder first = SoakFolder.Open(_directory.Path);
        first.Append(Sample(5));
        first.Add(Piece("a fault"));

        SoakFolder second = SoakFolder.Open(_directory.Path);
        second.Append(Sample(10));
        second.Add(Piece());

        Assert.Equal(first.State.Seed, second.State.Seed);
        Assert.Equal(2, second.State.Pieces);
        Assert.Equal(120, second.State.SecondsRun);
        Assert.Equal([Sample(5), Sample(10)], second.Samples());
        Assert.Equal(["a fault"], second.Pieces().SelectMany(piece => piece.Faults));
        Assert.Contains("piece 1: a fault", SoakReport.Of(second), StringComparison.Ordinal);
    }

    private static ServerSample Sample(double at) =>
        new(at, "steady", false, new ProcessFigures(1 << 20, 70, 14, 450, 0.5), 1 << 25, 1 << 25, 100, 0.25, 2.5);

    private static PieceSummary Piece(params string[] faults) => new(
        1, 60, "abc", 100, 1, 10, faults, [new ServerSummary("steady", 1 << 20, 1 << 20, 70, 14, 450, 1 << 25, 1 << 25, 0.25, 2.5, 0)]);
}
