using Cairn.Soak.Drift;

namespace Cairn.Benchmarks.Tests.Soak;

public class DriftCheckTests
{
    private const int PieceSeconds = 20 * 60;

    [Fact]
    public void Memory_that_grows_by_a_mebibyte_a_piece_is_a_drift()
    {
        Assert.Contains("memory when idle", Drifts(piece => 50 + piece, pieces: 18));
    }

    [Fact]
    public void Memory_that_goes_up_and_down_is_no_drift()
    {
        var random = new Random(1);

        Assert.Empty(Drifts(_ => 50 + random.Next(10), pieces: 72));
    }

    [Fact]
    public void Growth_within_the_allowance_is_no_drift()
    {
        // 72 pieces are a day.
        Assert.Empty(Drifts(piece => 50 + (piece * 10.0 / 72), pieces: 72));
    }

    [Fact]
    public void Descriptor_lost_in_every_tenth_piece_is_a_drift()
    {
        PieceSummary[] pieces = [.. Enumerable.Range(0, 72).Select(piece => Piece(piece, 50, descriptors: 70 + (piece / 10)))];

        Assert.Equal(["descriptors when idle"], DriftCheck.Of(pieces).Where(finding => finding.IsDrift).Select(finding => finding.Rule.Name));
    }

    private static IEnumerable<string> Drifts(Func<int, double> mebibytes, int pieces) =>
        DriftCheck.Of([.. Enumerable.Range(0, pieces).Select(piece => Piece(piece, mebibytes(piece), descriptors: 70))])
            .Where(finding => finding.IsDrift)
            .Select(finding => finding.Rule.Name);

    private static PieceSummary Piece(int number, double mebibytes, int descriptors) => new(
        number, PieceSeconds, "", 0, 0, 0, [], [new ServerSummary("steady", (long)(mebibytes * (1 << 20)), 60 << 20, descriptors, 14, 450, 0, 0, 0.2, 2, 0)]);
}
