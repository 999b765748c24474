using System.Globalization;
using System.Text;

namespace Cairn.Simulation.Scheduling;

/// <summary>What happened in a run, one line each: the moment in seconds, the place, and the event.</summary>
/// <param name="isKept">Whether the lines are kept. Most runs only need to know that none of their rules was broken.</param>
internal sealed class History(bool isKept)
{
    private readonly StringBuilder _text = new();

    public bool IsKept => isKept;

    public void Add(World world, string place, string line)
    {
        if (isKept)
        {
            _text.Append(CultureInfo.InvariantCulture, $"{world.Now / (double)TimeSpan.TicksPerSecond,11:0.000000} {place,-8} {line}\n");
        }
    }

    public override string ToString() => _text.ToString();
}
