"""Questions at the terminal, and their answers as trees and lists."""
