using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;
using Cairn.Benchmarks.Server;

namespace Cairn.Benchmarks.Bookshop;

/// <summary>What wrk found out in one span.</summary>
internal sealed record WrkResult(double Requests, double Seconds, double MedianUs, double TailUs)
{
    private const double UsPerSecond = 1e6;

    /// <summary>Reads the line that bench/bookshop/books.lua prints: requests, microseconds, errors, two latencies in microseconds.</summary>
    /// <exception cref="InvalidDataException">There is no such line, or a request failed.</exception>
    public static WrkResult Parse(string output)
    {
        var line = output.Split('\n').FirstOrDefault(line => line.StartsWith("result ", StringComparison.Ordinal));
        var numbers = (line ?? string.Empty).Split(' ', StringSplitOptions.RemoveEmptyEntries).Skip(1)
            .Select(text => double.Parse(text, CultureInfo.InvariantCulture)).ToArray();
        return numbers switch
        {
            [_, var us, 0, var median, var tail] => new WrkResult(numbers[0], us / UsPerSecond, median, tail),
            [_, _, > 0, ..] => throw new InvalidDataException($"{numbers[2]} requests failed."),
            _ => throw new InvalidDataException($"wrk printed no result: {output.Trim()}"),
        };
    }
}

/// <summary>Loads an API with wrk, from the other core.</summary>
internal sealed class WrkLoad(string script, int books, double seconds, bool isRealTime)
{
    private const int Connections = 50;

    public static bool IsInstalled()
    {
        try
        {
            using var process = Process.Start(new ProcessStartInfo("wrk", ["--version"]) { RedirectStandardOutput = true, RedirectStandardError = true, UseShellExecute = false })!;
            process.StandardOutput.ReadToEnd();
            process.WaitForExit();
            return true;
        }
        catch (Win32Exception)
        {
            return false;
        }
    }

    /// <summary>Asks for books, or for the constant answer if there is no path to them.</summary>
    /// <param name="shop">Whom to ask.</param>
    /// <param name="database">What else is at work then.</param>
    /// <param name="path">What stands before a book's id; null to ask for the constant answer.</param>
    /// <param name="skip">How many of the books to leave out at first; every run asks for the same ones in the same order.</param>
    /// <param name="mayBeRealTime">Whether this is what is measured.</param>
    public WrkResult Run(ShopProcess shop, ShopDatabase database, string? path, int skip, bool mayBeRealTime)
    {
        // wrk counts in whole seconds; less is for a first look, and as good as one.
        var span = Text((int)Math.Max(1, Math.Round(seconds)));
        string[] wrk = ["wrk", "-t1", "-c" + Text(Connections), $"-d{span}s", "-s", script, shop.Address.ToString(), "--"];
        string[] what = path is null ? ["/api/constant"] : [path, Text(books), Text(skip)];
        if (!isRealTime || !mayBeRealTime)
        {
            return WrkResult.Parse(Output(["taskset", "-c", Text(LoadGenerator.Core), .. wrk, .. what]));
        }

        var served = (int[])[shop.Id, .. database.ProcessIds()];
        ShopPriority.Raise(served);
        try
        {
            return WrkResult.Parse(Output(["chrt", "-f", ShopPriority.RealTime, "taskset", "-c", Text(LoadGenerator.Core), .. wrk, .. what]));
        }
        finally
        {
            ShopPriority.Restore(served);
        }
    }

    private static string Output(string[] command)
    {
        using var process = Process.Start(
            new ProcessStartInfo(command[0], command[1..]) { RedirectStandardOutput = true, UseShellExecute = false })!;
        var output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return output;
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
