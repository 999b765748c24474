using Cairn.Benchmarks.Measuring;

namespace Cairn.Benchmarks.Formats;

/// <summary>Does something with a whole catalogue, again and again. An operation is one of its records.</summary>
internal sealed class CatalogueWork(string name, int records, int passes, Action pass) : IContender
{
    public string Name => name;

    public void WarmUp() => RunAll();

    public Sample Measure(int round)
    {
        var meter = Meter.Start();
        RunAll();
        return meter.Stop((double)records * passes);
    }

    public void Dispose()
    {
        // What the work needs is the group's.
    }

    private void RunAll()
    {
        for (var i = 0; i < passes; i++)
        {
            pass();
        }
    }
}
