using Cairn.Benchmarks.Measuring;
using Cairn.Benchmarks.Reporting;

namespace Cairn.Benchmarks;

// One run of one area. It measures the cases that the area requests and collects the findings. A case that fails becomes a
// finding without a figure; the run continues.
internal sealed class AreaRun(RunSettings settings, RunLog log)
{
    private readonly List<Finding> _findings = [];
    private readonly List<ServiceFigure> _figures = [];

    public RunSettings Settings { get; } = settings;

    public IReadOnlyList<Finding> Findings => _findings;

    /// <summary>Gets the figures of services under load; empty for areas that measure no services.</summary>
    public IReadOnlyList<ServiceFigure> Figures => _figures;

    /// <summary>Gets a value that indicates whether a case could not be measured.</summary>
    public bool HasFailures { get; private set; }

    public RunLog Log { get; } = log;

    public void Add(Finding finding) => _findings.Add(finding);

    public void Add(ServiceFigure figure) => _figures.Add(figure);

    /// <summary>Measures a group of contenders in the same rounds and answers the questions of the group.</summary>
    /// <param name="name">The name of the group in messages.</param>
    /// <param name="rounds">The number of times each contender is measured, unless the command line names another.</param>
    /// <param name="prepare">Loads the data, enters the contenders and adds the questions.</param>
    public void Measure(string name, int rounds, Action<CaseGroup> prepare)
    {
        if (!IsWanted(name))
        {
            return;
        }

        using var group = new CaseGroup(Log);
        try
        {
            Log.Progress($"{name}: loading");
            prepare(group);
            var failures = new Dictionary<IContender, Exception>();
            var samples = InterleavedRun.Run(
                group.Contenders, Settings.Rounds ?? rounds, message => Log.Progress($"{name}: {message}"), (contender, failure) => failures[contender] = failure);
            foreach (var (contender, failure) in failures)
            {
                var lost = group.Comparisons.Where(comparison => comparison.Subject == contender || comparison.Against == contender);
                Fail($"{name}, {contender.Name}", lost.Select(comparison => comparison.Pending), failure);
            }

            foreach (var comparison in group.Comparisons.Where(
                comparison => samples.ContainsKey(comparison.Subject) && (comparison.Against is null || samples.ContainsKey(comparison.Against))))
            {
                Add(comparison.Answer(samples[comparison.Subject], comparison.Against is { } peer ? samples[peer] : []));
            }
        }
        catch (Exception failure) when (failure is not OutOfMemoryException)
        {
            var pending = group.Comparisons.Select(comparison => comparison.Pending).ToList();
            Fail(name, pending.Count > 0 ? pending : [new Finding(name, "Cairn", "nothing")], failure);
        }
    }

    /// <summary>Measures something that is compared with limits, not with a peer.</summary>
    /// <param name="name">The name of the measurement in messages.</param>
    /// <param name="pending">The findings without figures. They are reported as they are if measuring fails.</param>
    /// <param name="measure">Returns the findings with their figures.</param>
    public void Check(string name, IReadOnlyList<Finding> pending, Func<IReadOnlyList<Finding>> measure)
    {
        if (!IsWanted(name))
        {
            return;
        }

        Log.Progress(name);
        try
        {
            _findings.AddRange(measure());
        }
        catch (Exception failure) when (failure is not OutOfMemoryException)
        {
            Fail(name, pending, failure);
        }
    }

    private bool IsWanted(string name) =>
        Settings.Only is null || name.Contains(Settings.Only, StringComparison.OrdinalIgnoreCase);

    private void Fail(string name, IEnumerable<Finding> pending, Exception failure)
    {
        HasFailures = true;
        Log.Say($"{name}: failed: {failure}");
        _findings.AddRange(pending.Select(finding => finding with { Note = $"failed: {failure.Message}" }));
    }
}
